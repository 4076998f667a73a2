package token

import (
	"crypto/aes"
	"unsafe"
)

// block is what AES encrypts in place.
type block [aes.BlockSize]byte

// bytes returns b as an argument of a cipher.Block. The compiler cannot know which Block a call
// through the interface reaches, and would move b to the heap. All are of crypto/aes, and keep
// no argument, so b may stay on the stack of the caller.
func (b *block) bytes() []byte {
	hidden := uintptr(unsafe.Pointer(b))
	return (*(**block)(unsafe.Pointer(&hidden)))[:]
}
