package token_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/seed-299c1d6b/snowkey/contrib/token"
	"github.com/seed-299c1d6b/snowkey/sqltype"
)

// Never use this one: it is public.
const keyText = "8f2a5c1d9e3b7046a1c8f5029d6e4b370c1f8a25e94d7b603152c9f8e07ad4b6"

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

	key, err := sqltype.ParseKey[Order]("ord_6SAPX568jFlC91Nu9cArMb")
	fmt.Println(key.Int64(), err)
	_, err = sqltype.ParseKey[Order]("ord_6SAPX568jFlC91Nu9cArMx")
	fmt.Println(err)
	// Output:
	// {"id":"ord_6SAPX568jFlC91Nu9cArMb"} <nil>
	// 1996573624012345677 <nil>
	// sqltype: parse "ord_6SAPX568jFlC91Nu9cArMx": want "ord_" and a token: not a token of type "order": no key of the ring opens it
}

func exampleRing() *token.Ring {
	secret, err := token.ParseSecret(keyText)
	if err != nil {
		log.Fatal(err)
	}
	ring, err := token.New(token.Config{Keys: []token.Secret{secret}})
	if err != nil {
		log.Fatal(err)
	}
	return ring
}

func exampleSealer() *token.Sealer {
	orders, err := exampleRing().Sealer("order")
	if err != nil {
		log.Fatal(err)
	}
	return orders
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

	_, err = token.New(token.Config{Keys: []token.Secret{newer, newer, {}}})
	fmt.Println(err)
	// Output:
	// token.Ring(keys: 2) <nil>
	// token: Keys[1] token.Secret(hidden): is the same secret as Keys[0]; Keys[2] token.Secret(not set): must be set
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
	// token: ParseSecret: a text of 28 characters is no secret: a secret is 32 bytes as 64 hexadecimal digits or in base 64
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
	// token.Sealer(order) <nil>
	// token: Sealer: type name "Order": must be 1 to 63 of a-z and _, and begin and end with a letter
}

func ExampleSealer_AppendSeal() {
	orders := exampleSealer()
	for id := range sqltype.ID(3) { // neighbours have nothing in common
		text, err := orders.AppendSeal([]byte("/orders/"), 1996573624012345677+id)
		fmt.Println(string(text), err)
	}
	// Output:
	// /orders/6SAPX568jFlC91Nu9cArMb <nil>
	// /orders/9AcLVnRiG1VCrzj2UmKCDc <nil>
	// /orders/H2rnCZHXrSMGzFjeJqkMDw <nil>
}

func ExampleSealer_Unseal() {
	orders := exampleSealer()
	fmt.Println(orders.Unseal("6SAPX568jFlC91Nu9cArMb"))
	fmt.Println(orders.Unseal("6SAPX568jFlC91Nu9cArMB"))
	// Output:
	// 1996573624012345677 <nil>
	// 0 token: unseal "6SAPX568jFlC91Nu9cArMB": not a token of type "order": no key of the ring opens it
}

// For a uuid column or a binary protocol.
func ExampleSealer_SealBlock() {
	orders := exampleSealer()
	block, err := orders.SealBlock(1996573624012345677)
	fmt.Printf("%x %v\n", block, err)
	// Output:
	// 4b2d6ef82e6098c58d77663d91bbf5bd <nil>
}

func ExampleSealer_OpenBlock() {
	orders := exampleSealer()
	block, err := orders.SealBlock(1996573624012345677)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(orders.OpenBlock(block))
	block[0]++
	_, err = orders.OpenBlock(block)
	fmt.Println(err)
	// Output:
	// 1996573624012345677 <nil>
	// token: unseal "4c2d6ef82e6098c58d77663d91bbf5bd": not a token of type "order": no key of the ring opens it
}
