package shop;

import java.util.List;

/** Shop sells. */
@Service
public class Shop<T extends Comparable<T>> extends Base implements Thing {
    // LIMIT is how much fits.
    public static final int LIMIT = 10, OTHER = 2;
    private int size;

    /**
     * Adds up.
     */
    @Override
    @Deprecated(since = "1")
    public int total(final int tax, String... rest) throws Exception {
        return items.stream().map(x -> x + 1).toList().size() + tax;
    }

    Shop(int size) { this.size = size; }

    static class Inner { void deep() {} }

    abstract void later();
}

interface Thing { int area(int x); default String name() { return """
        text
        """; } }
record Point(int x, int y) { Point { if (x < 0) throw new IllegalArgumentException(); } }
enum Color { RED, GREEN; int code() { return switch (this) { case RED -> 1; default -> 2; }; } }
