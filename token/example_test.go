package token_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/seed-299c1d6b/snowkey/sqltype"
	"github.com/seed-299c1d6b/snowkey/token"
)

// Never use these: they are public.
const (
	keyText      = "8f2a5c1d9e3b7046a1c8f5029d6e4b370c1f8a25e94d7b603152c9f8e07ad4b6"
	shortKeyText = "03d1e5f72b9c48a6f01e7d3c5b8a2946e7f0c1d3a5b79284061f3e5d7c9ba820"
)

// orders is set in main, before the first key is written or read.
var orders *token.Sealer

type Order struct {
	ID sqltype.Key[Order] `json:"id"`
}

func (*Order) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "ord", Sealer: orders} }

// The keys of a type as tokens: the column is a bigint, and only texts and JSON have the token.
func Example() {
	secret, err := token.ParseSecret(keyText) // from: openssl rand -hex 32
	if err != nil {
		log.Fatal(err)
	}
	ring, err := token.New(token.Config{Keys: []token.Secret{secret}})
	if err != nil {
		log.Fatal(err)
	}
	if orders, err = ring.Sealer("order"); err != nil {
		log.Fatal(err)
	}
	text, err := json.Marshal(Order{ID: 1996573624012345677})
	fmt.Println(string(text), err)

	key, err := sqltype.ParseKey[Order]("ord_")
	fmt.Println(key.Int64(), err)
	_, err = sqltype.ParseKey[Order]("ord_1")
	fmt.Println(err)
	// Output:
}

// exampleRing is a ring of both kinds of keys.
func exampleRing() *token.Ring {
	secret, err := token.ParseSecret(keyText)
	if err != nil {
		log.Fatal(err)
	}
	short, err := token.ParseSecret(shortKeyText)
	if err != nil {
		log.Fatal(err)
	}
	ring, err := token.New(token.Config{
		Keys:      []token.Secret{secret},
		ShortKeys: []token.ShortKey{{Number: 11, Secret: short}},
	})
	if err != nil {
		log.Fatal(err)
	}
	return ring
}

// A key is rotated by adding a new one in front. What the old one sealed still opens.
func ExampleNew() {
	older, err := token.ParseSecret(keyText)
	if err != nil {
		log.Fatal(err)
	}
	newer, err := token.ParseSecret("c4a90b7e6d5f3812907fce3d1b2a48560918f7e6d5c4b3a29180706f5e4d3c2b")
	if err != nil {
		log.Fatal(err)
	}
	ring, err := token.New(token.Config{Keys: []token.Secret{newer, older}})
	fmt.Println(ring, err)

	_, err = token.New(token.Config{
		Keys:      []token.Secret{newer, newer, {}},
		ShortKeys: []token.ShortKey{{Number: 58, Secret: older}},
	})
	fmt.Println(err)
	// Output:
}

func ExampleGenerateSecret() {
	text := token.GenerateSecret()
	secret, err := token.ParseSecret(text)
	fmt.Println(len(text), secret, err)
	// Output: 64 token.Secret(hidden) <nil>
}

// An error does not quote what may be a secret.
func ExampleParseSecret() {
	_, err := token.ParseSecret("correct horse battery staple")
	fmt.Println(err)
	// Output:
}

// The bytes are those of a key management service, for example.
func ExampleNewSecret() {
	_, err := token.NewSecret(make([]byte, 32))
	fmt.Println(err)
	// Output: token: NewSecret: 32 equal bytes are no secret
}

func ExampleRing_Sealer() {
	ring := exampleRing()
	orders, err := ring.Sealer("order")
	fmt.Println(orders, err)
	_, err = ring.Sealer("Order")
	fmt.Println(err)
	// Output:
}

func ExampleSealer_AppendSeal() {
	orders, err := exampleRing().Sealer("order")
	if err != nil {
		log.Fatal(err)
	}
	for id := range sqltype.ID(3) { // neighbours have nothing in common
		text, err := orders.AppendSeal([]byte("/orders/"), 1996573624012345677+id)
		fmt.Println(string(text), err)
	}
	// Output:
}

func ExampleSealer_Unseal() {
	orders, err := exampleRing().Sealer("order")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(orders.Unseal("TOKEN"))
	fmt.Println(orders.Unseal("TOKEX"))
	// Output:
}

// For a uuid column or a binary protocol.
func ExampleSealer_SealBlock() {
	orders, err := exampleRing().Sealer("order")
	if err != nil {
		log.Fatal(err)
	}
	block, err := orders.SealBlock(1996573624012345677)
	fmt.Printf("%x %v\n", block, err)
	// Output:
}

func ExampleSealer_OpenBlock() {
	orders, err := exampleRing().Sealer("order")
	if err != nil {
		log.Fatal(err)
	}
	block, err := orders.SealBlock(1996573624012345677)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(orders.OpenBlock(block))
	block[0]++
	_, err = orders.OpenBlock(block)
	fmt.Println(err)
	// Output:
}

func ExampleRing_ShortSealer() {
	orders, err := exampleRing().ShortSealer("order")
	fmt.Println(orders, err)
	// Output: token.ShortSealer(order) <nil>
}

func ExampleShortSealer_AppendSeal() {
	orders, err := exampleRing().ShortSealer("order")
	if err != nil {
		log.Fatal(err)
	}
	for id := range sqltype.ID(3) { // B is the number 11 of the key
		text, err := orders.AppendSeal([]byte("/o/"), 1996573624012345677+id)
		fmt.Println(string(text), err)
	}
	// Output:
}

// A made-up text may open, to some id.
func ExampleShortSealer_Unseal() {
	orders, err := exampleRing().ShortSealer("order")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(orders.Unseal("SHORT"))
	for _, text := range []string{"B00000000000", "B00000000001", "C00000000000"} {
		fmt.Println(orders.Unseal(text))
	}
	// Output:
}
