package doctor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// judged lists file systems on which leases are not safe.
var judged = map[int64]struct { //nolint:gochecknoglobals // constant
	name   string
	status Status
	advice string
}{
	unix.TMPFS_MAGIC:           {"tmpfs", Fail, "a restart of the machine deletes it: keep the file on a disk"},
	unix.RAMFS_MAGIC:           {"ramfs", Fail, "a restart of the machine deletes it: keep the file on a disk"},
	unix.NFS_SUPER_MAGIC:       {"NFS", Fail, "locks and flushes are unreliable over a network: use a local disk, or another database"},
	unix.SMB_SUPER_MAGIC:       {"SMB", Fail, "locks and flushes are unreliable over a network: use a local disk, or another database"},
	unix.SMB2_SUPER_MAGIC:      {"SMB", Fail, "locks and flushes are unreliable over a network: use a local disk, or another database"},
	unix.CIFS_SUPER_MAGIC:      {"CIFS", Fail, "locks and flushes are unreliable over a network: use a local disk, or another database"},
	unix.CEPH_SUPER_MAGIC:      {"Ceph", Fail, "locks and flushes are unreliable over a network: use a local disk, or another database"},
	unix.AFS_SUPER_MAGIC:       {"AFS", Fail, "locks and flushes are unreliable over a network: use a local disk, or another database"},
	unix.V9FS_MAGIC:            {"9p", Warn, "check that it is local and durable"},
	unix.FUSE_SUPER_MAGIC:      {"FUSE", Warn, "check that it is local and durable"},
	unix.OVERLAYFS_SUPER_MAGIC: {"overlayfs", Warn, "a container's own layer is deleted with it: use a volume"},
}

// fileSystem checks the file system of a directory.
func (e *checkup) fileSystem(path string) {
	const name = "file system"
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		e.skip(name, "not visible: %v", err)
		return
	}
	if found, ok := judged[int64(fs.Type)]; ok { //nolint:unconvert // not an int64 everywhere
		e.report(found.status, name, fmt.Sprintf("%s is on %s", path, found.name), found.advice)
	} else if fs.Flags&unix.ST_RDONLY != 0 {
		e.report(Fail, name, path+" is mounted read-only", "use a writable directory")
	} else if err := unix.Access(path, unix.W_OK); err != nil {
		e.report(Fail, name, path+" is not writable: "+err.Error(), "let this user write there")
	} else {
		e.ok(name, "%s, local", path)
	}
}
