import { x } from "./x";

/** Limit is how much fits. */
export const LIMIT: number = 10, other = 2;
let hidden = 1; // trailing

/**
 * Cart holds things.
 */
@Injectable({
  a: 1,
})
export abstract class Cart<T extends object> extends Base implements Thing {
  private size = 0;
  // total adds up
  @Input() total(tax: number, ...rest: string[]): number {
    return this.items.length + tax;
  }
  static async *load(): AsyncGenerator<T> {}
  get count(): number { return 1; }
  handler = async (e: Event): Promise<void> => {
    await e;
  };
  abstract later(a: T): void;
  constructor(private readonly x: number) { super(); }
  #secret() {}
}

export interface Thing { a: number; b(): void }
type Pair<T> = [T, T];
enum Color { Red, Green }
export function pick(a: string): string;
export function pick(a: number): number;
export function pick(a: any): any { return a satisfies unknown; }
export default function main() {}
const add = (a: number, b = 2): number => a + b;
declare function fromOutside(x: number): void;
export namespace Deep {
  export function inside() {}
}
exports.later = function (a, b) { return a };
