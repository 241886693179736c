// Package proof holds receipts, and the one function that turns a receipt into a Proof.
package proof
