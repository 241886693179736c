#!/usr/bin/env node
'use strict';
const fs = require('fs');

// total adds up.
// It really does.
function total(cart, { tax = 0 } = {}) {
  return cart.items.reduce((a, b) => a + b, 0) + tax;
}

export class Cart extends Base {
  static limit = 10;
  /* add */
  add(item) { this.items.push(item); }
  static of(...items) { return `${items}
  text`; }
  ['computed']() {}
  'quoted'() {}
}

function Old() {}
Old.prototype.size = function (deep) { return 1; };
module.exports.pick = (a) => a;
module.exports = { total };
async function* stream() { yield <div className="a">text {1}</div>; }
var later = function () {}, count = 3;
