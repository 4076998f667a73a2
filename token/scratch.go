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
	return (*block)(pointer[unsafe.Pointer](uintptr(unsafe.Pointer(b))))[:]
}

// pointer returns the address as a pointer that the compiler does not connect with b. It must be a
// conversion, as in NoEscape of internal/abi: what is made of a uintptr in other ways, by a pointer
// to it or by unsafe.Add, may stay a uintptr, which is wrong after the stack has grown and moved.
// checkptr would refuse it.
//
//go:nocheckptr
func pointer[P ~unsafe.Pointer](address uintptr) P { return P(address) }
