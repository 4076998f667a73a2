package testserver

func redisEngine() *engine {
	return &engine{
		kind:          KindRedis,
		dsnVar:        "SNOWKEY_TEST_REDIS",
		binVar:        "SNOWKEY_TEST_REDIS_BIN",
		packages:      "redis-server",
		programs:      [][]string{{"redis-server"}},
		rewritesTitle: true,
		dsn:           func(addr string) string { return addr },
		port:          "6379",
		schemes:       []string{"redis", "rediss"},
		command: func(s *Server) []string {
			return []string{s.programs[0], "--bind", "127.0.0.1", "--port", portOf(s.Addr), "--dir", s.dir, "--save", "", "--pidfile", s.in("pid"),
				// Every write goes to the kernel before its answer: it survives Kill.
				"--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0"}
		},
		// While it loads its data, PING is answered by an error.
		ready: func(s *Server) error { return ask(s.Addr, "PING\r\n", "+PONG\r\n") },
	}
}
