package testserver

// Run starts a server for a program that is no test, such as an example. stop
// ends it and removes its data; should it not be called, both happen when the
// program ends, however it does. An error names what is not installed.
func Run(kind Kind) (s *Server, stop func() error, err error) {
	s, err = boot(engines()[kind], freeAddr)
	if err != nil {
		return nil, nil, err
	}
	return s, s.remove, nil
}
