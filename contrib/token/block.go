package token

import (
	"crypto/aes"
	"sync"
)

// block is a block of AES. The arguments of a cipher.Block escape to the heap, because the compiler
// does not know what it does with them. So blocks are kept and reused.
type block [aes.BlockSize]byte

// blocks are the free ones. The zero value is ready for use.
type blocks struct{ pool sync.Pool }

func (p *blocks) get() *block {
	if b, ok := p.pool.Get().(*block); ok {
		return b
	}
	return new(block)
}

func (p *blocks) put(b *block) { p.pool.Put(b) }
