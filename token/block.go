package token

import (
	"crypto/aes"
	"sync"
)

// block is a block of AES. An argument of a cipher.Block is on the heap, because the compiler does
// not know what the Block does with it. So blocks are used again.
type block [aes.BlockSize]byte

// blocks are free. The zero value is ready for use.
type blocks struct{ pool sync.Pool }

func (p *blocks) get() *block {
	if b, ok := p.pool.Get().(*block); ok {
		return b
	}
	return new(block)
}

func (p *blocks) put(b *block) { p.pool.Put(b) }
