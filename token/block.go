package token

import (
	"crypto/aes"
	"crypto/cipher"
	"unsafe"
)

// block is a block of AES.
type block [aes.BlockSize]byte

// encrypt encrypts b in place. c is of crypto/aes.
func (b *block) encrypt(c cipher.Block) {
	bytes := b.hidden()
	c.Encrypt(bytes, bytes)
}

// decrypt decrypts b in place. c is of crypto/aes.
func (b *block) decrypt(c cipher.Block) {
	bytes := b.hidden()
	c.Decrypt(bytes, bytes)
}

// hidden returns b, and hides from the compiler that the bytes are those of b. The compiler does not
// know which type a call through an interface reaches, and would move b to the heap. AES keeps
// no argument, so b may stay on the stack of the caller. Nothing may be called while the address is
// an integer: the stack could move, and the bytes would be those of the old one. The race detector
// and checkptr would insert calls.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (b *block) hidden() []byte {
	address := uintptr(unsafe.Pointer(b))
	return (*(**block)(unsafe.Pointer(&address)))[:]
}
