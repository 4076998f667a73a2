package none

type Order struct{ ID OtherKey }
