package token

import (
	"crypto/aes"
	"sync"
)

// block is a block of AES. What a cipher.Block gets is on the heap, because the compiler does not
// know what it does with its arguments. So blocks are kept and used again.
type block [aes.BlockSize]byte

// blocks are free ones. The zero value is ready for use.
type blocks struct{ pool sync.Pool }

func (p *blocks) get() *block {
	if b, ok := p.pool.Get().(*block); ok {
		return b
	}
	return new(block)
}

func (p *blocks) put(b *block) { p.pool.Put(b) }
