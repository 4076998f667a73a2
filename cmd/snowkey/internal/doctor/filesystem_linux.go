package doctor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// judged are kinds of file systems on which leases are not safe.
var judged = map[int64]struct { //nolint:gochecknoglobals // constant
	name   string
	status Status
	advice string
}{
	unix.TMPFS_MAGIC:           {"tmpfs", Fail, "it is gone after a restart of the machine: take a directory on a disk"},
	unix.RAMFS_MAGIC:           {"ramfs", Fail, "it is gone after a restart of the machine: take a directory on a disk"},
	unix.NFS_SUPER_MAGIC:       {"NFS", Fail, "locks and flushes do not hold over a network: take a local disk, or a database"},
	unix.SMB_SUPER_MAGIC:       {"SMB", Fail, "locks and flushes do not hold over a network: take a local disk, or a database"},
	unix.SMB2_SUPER_MAGIC:      {"SMB", Fail, "locks and flushes do not hold over a network: take a local disk, or a database"},
	unix.CIFS_SUPER_MAGIC:      {"CIFS", Fail, "locks and flushes do not hold over a network: take a local disk, or a database"},
	unix.CEPH_SUPER_MAGIC:      {"Ceph", Fail, "locks and flushes do not hold over a network: take a local disk, or a database"},
	unix.AFS_SUPER_MAGIC:       {"AFS", Fail, "locks and flushes do not hold over a network: take a local disk, or a database"},
	unix.V9FS_MAGIC:            {"9p", Warn, "see that it is of this machine and keeps what is flushed"},
	unix.FUSE_SUPER_MAGIC:      {"FUSE", Warn, "see that it is of this machine and keeps what is flushed"},
	unix.OVERLAYFS_SUPER_MAGIC: {"overlayfs", Warn, "a container's own layer goes with the container: take a volume"},
}

// fileSystem looks on what a directory lies.
func (e *examination) fileSystem(name, path string) {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		e.skip(name, "cannot be seen: %v", err)
		return
	}
	if found, ok := judged[int64(fs.Type)]; ok { //nolint:unconvert // not an int64 everywhere
		e.tell(found.status, name, fmt.Sprintf("%s is on %s", path, found.name), found.advice)
	} else if fs.Flags&unix.ST_RDONLY != 0 {
		e.tell(Fail, name, path+" is mounted read-only", "take a directory that can be written")
	} else if err := unix.Access(path, unix.W_OK); err != nil {
		e.tell(Fail, name, path+" cannot be written: "+err.Error(), "give this user the right to write there")
	} else {
		e.ok(name, "%s, of this machine", path)
	}
}
