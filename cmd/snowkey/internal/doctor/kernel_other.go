//go:build !linux

package doctor

import "errors"

func readKernel() (kernelClock, error) { return kernelClock{}, errors.ErrUnsupported }
