package token_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/seed-299c1d6b/snowkey/contrib/token"
	"github.com/seed-299c1d6b/snowkey/sqltype"
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

	key, err := sqltype.ParseKey[Order]("ord_6SAPX568jFlC91Nu9cArMb")
	fmt.Println(key.Int64(), err)
	_, err = sqltype.ParseKey[Order]("ord_6SAPX568jFlC91Nu9cArMx")
	fmt.Println(err)
	// Output:
	// {"id":"ord_6SAPX568jFlC91Nu9cArMb"} <nil>
	// 1996573624012345677 <nil>
	// sqltype: parse "ord_6SAPX568jFlC91Nu9cArMx": want "ord_" and a token: not a token of type "order": no key of the ring opens it
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
	// token.Ring(long keys: 2, short keys: 0) <nil>
	// token: ShortKeys[0].Number 58: must be 0 to 57; Keys[1]: is the same secret as Keys[0]; Keys[2]: is not set
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
	orders, err := exampleRing().Sealer("order")
	if err != nil {
		log.Fatal(err)
	}
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
	orders, err := exampleRing().Sealer("order")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(orders.Unseal("6SAPX568jFlC91Nu9cArMb"))
	fmt.Println(orders.Unseal("6SAPX568jFlC91Nu9cArMB"))
	// Output:
	// 1996573624012345677 <nil>
	// 0 token: unseal "6SAPX568jFlC91Nu9cArMB": not a token of type "order": no key of the ring opens it
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
	// 4b2d6ef82e6098c58d77663d91bbf5bd <nil>
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
	// 1996573624012345677 <nil>
	// token: unseal "4c2d6ef82e6098c58d77663d91bbf5bd": not a token of type "order": no key of the ring opens it
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
	// /o/BuOEmjUXjQ7Y <nil>
	// /o/BooeUbdZ5Zgv <nil>
	// /o/BOYNbqX2qIG0 <nil>
}

// A made-up text may open, to some id.
func ExampleShortSealer_Unseal() {
	orders, err := exampleRing().ShortSealer("order")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(orders.Unseal("BuOEmjUXjQ7Y"))
	for _, text := range []string{"B00000000000", "B00000000006", "C00000000000"} {
		fmt.Println(orders.Unseal(text))
	}
	// Output:
	// 1996573624012345677 <nil>
	// 0 token: unseal "B00000000000": not a token of type "order": it opens to no id
	// 2177123611198314168 <nil>
	// 0 token: unseal "C00000000000": not a token of type "order": the ring has no short key with the number 12
}
