package gormplugin_test

import "github.com/seed-299c1d6b/snowkey/sqltype"

// Four levels of models, each with every kind of association to the next: belongs
// to, has one, has many, many to many and polymorphic, by value and by pointer.

// Parents are the foreign keys of a row whose parent has one or many of it. K is the type of the
// parent's key.
type Parents[K any] struct {
	OneValID  *K
	OnePtrID  *K
	ManyValID *K
	ManyPtrID *K
	OwnerID   *sqltype.ID
	OwnerType string `gorm:"size:20"`
}

type LevelA struct {
	ID       sqltype.ID
	Label    string `gorm:"size:60"`
	BelValID *sqltype.ID
	BelPtrID *sqltype.ID
	BelVal   LevelB
	BelPtr   *LevelB
	OneVal   LevelB    `gorm:"foreignKey:OneValID"`
	OnePtr   *LevelB   `gorm:"foreignKey:OnePtrID"`
	ManyVal  []LevelB  `gorm:"foreignKey:ManyValID"`
	ManyPtr  []*LevelB `gorm:"foreignKey:ManyPtrID"`
	JoinVal  []LevelB  `gorm:"many2many:ab_val"`
	JoinPtr  []*LevelB `gorm:"many2many:ab_ptr"`
	PolyOne  *LevelB   `gorm:"polymorphic:Owner;polymorphicValue:one"`
	PolyMany []LevelB  `gorm:"polymorphic:Owner;polymorphicValue:many"`
}

type LevelB struct {
	ID                  int64  `gorm:"primaryKey;autoIncrement:false;snowflake"`
	Label               string `gorm:"size:60"`
	Parents[sqltype.ID] `gorm:"embedded"`
	BelValID            *sqltype.ID
	BelPtrID            *sqltype.ID
	BelVal              LevelC
	BelPtr              *LevelC
	OneVal              LevelC    `gorm:"foreignKey:OneValID"`
	OnePtr              *LevelC   `gorm:"foreignKey:OnePtrID"`
	ManyVal             []LevelC  `gorm:"foreignKey:ManyValID"`
	ManyPtr             []*LevelC `gorm:"foreignKey:ManyPtrID"`
	JoinVal             []LevelC  `gorm:"many2many:bc_val"`
	JoinPtr             []*LevelC `gorm:"many2many:bc_ptr"`
	PolyOne             *LevelC   `gorm:"polymorphic:Owner;polymorphicValue:one"`
	PolyMany            []LevelC  `gorm:"polymorphic:Owner;polymorphicValue:many"`
}

type LevelC struct {
	ID                  sqltype.Key[LevelC]
	Label               string `gorm:"size:60"`
	Parents[sqltype.ID] `gorm:"embedded"`
	BelValID            *sqltype.Key[LevelD]
	BelPtrID            sqltype.NullKey[LevelD]
	BelVal              LevelD
	BelPtr              *LevelD
	OneVal              LevelD    `gorm:"foreignKey:OneValID"`
	OnePtr              *LevelD   `gorm:"foreignKey:OnePtrID"`
	ManyVal             []LevelD  `gorm:"foreignKey:ManyValID"`
	ManyPtr             []*LevelD `gorm:"foreignKey:ManyPtrID"`
	JoinVal             []LevelD  `gorm:"many2many:cd_val"`
	JoinPtr             []*LevelD `gorm:"many2many:cd_ptr"`
	PolyOne             *LevelD   `gorm:"polymorphic:Owner;polymorphicValue:one"`
	PolyMany            []LevelD  `gorm:"polymorphic:Owner;polymorphicValue:many"`
}

// LevelD is a tree as well: the fourth level's rows have children of their own kind.
type LevelD struct {
	ID                           sqltype.Key[LevelD]
	Label                        string `gorm:"size:60"`
	Parents[sqltype.Key[LevelC]] `gorm:"embedded"`
	ParentID                     sqltype.NullKey[LevelD]
	Parent                       *LevelD
	Children                     []*LevelD `gorm:"foreignKey:ParentID"`
}

func (*LevelC) KeyForm() sqltype.Form { return sqltype.Form{Prefix: "c"} }

func levels() []any { return []any{&LevelD{}, &LevelC{}, &LevelB{}, &LevelA{}} }

// levelTables has the parents of a foreign key first.
var levelTables = []string{
	"level_ds", "level_cs", "level_bs", "level_as", "ab_val", "ab_ptr", "bc_val", "bc_ptr", "cd_val", "cd_ptr",
}
