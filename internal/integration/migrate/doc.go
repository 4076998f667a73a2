// Package migrate tests package migrate on real databases: with writers that never stop, killed and
// resumed, back again, and on tables that it must refuse.
package migrate
