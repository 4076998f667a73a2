package doctor

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// readKernel asks the kernel about this machine's clock. It changes nothing, so it needs no
// privilege.
func readKernel() (kernelClock, error) {
	var x unix.Timex
	state, err := unix.Adjtimex(&x)
	if err != nil {
		return kernelClock{}, err
	}
	return kernelClock{
		synchronized: state != unix.TIME_ERROR && x.Status&unix.STA_UNSYNC == 0,
		maxError:     time.Duration(x.Maxerror) * time.Microsecond,
	}, nil
}

// The file systems on which leases are not safe.
var (
	volatile = map[int64]string{unix.TMPFS_MAGIC: "tmpfs", unix.RAMFS_MAGIC: "ramfs"} //nolint:gochecknoglobals // constant
	remote   = map[int64]string{                                                      //nolint:gochecknoglobals // constant
		unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "CIFS",
		unix.CEPH_SUPER_MAGIC: "Ceph", unix.AFS_SUPER_MAGIC: "AFS",
	}
	unclear = map[int64]string{unix.V9FS_MAGIC: "9p", unix.FUSE_SUPER_MAGIC: "FUSE", unix.OVERLAYFS_SUPER_MAGIC: "overlayfs"} //nolint:gochecknoglobals // constant
)

// fileSystem checks the file system of a directory.
func (e *checkup) fileSystem(path string) {
	const name = "file system"
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		e.skip(name, "not visible: %v", err)
		return
	}
	switch kind := int64(fs.Type); { //nolint:unconvert // not an int64 everywhere
	case volatile[kind] != "":
		e.report(Fail, name, path+" is on "+volatile[kind], "a restart of the machine deletes it: keep the file on a disk")
	case remote[kind] != "":
		e.report(Fail, name, path+" is on "+remote[kind], "locks and flushes are unreliable over a network: use a local disk, or another database")
	case unclear[kind] != "":
		e.report(Warn, name, path+" is on "+unclear[kind], "check that it is local and durable; a container's own layer is deleted with it")
	case fs.Flags&unix.ST_RDONLY != 0:
		e.report(Fail, name, path+" is mounted read-only", "use a writable directory")
	default:
		err := unix.Access(path, unix.W_OK)
		e.judge(err != nil, Fail, name, path+", local", fmt.Sprintf("let this user write there: %v", err))
	}
}
