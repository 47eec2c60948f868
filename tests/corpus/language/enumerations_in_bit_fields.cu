// Bit-fields of enumerations: without negative values and a type of their own the highest bit is no sign.
enum Colour { RED, GREEN, BLUE, ALPHA };
enum Step { DOWN = -1, STAY, UP };
enum Small : signed char { NONE, ONE };
typedef enum { SOLID, LIQUID, GAS, PLASMA } State;
struct Cell {
    enum Kind { EMPTY, WALL, DOOR } kind : 2;
    Colour colour : 2;
    Step step : 2;
    State state : 2;
    Small small : 2;
    enum class Side : unsigned { LEFT, RIGHT, TOP, BOTTOM } side : 2;
};

// warpsmith: grid=1 block=32
__global__ void cells()
{
    Cell cell = {};
    cell.kind = Cell::DOOR;
    cell.colour = ALPHA;
    cell.step = DOWN;
    cell.state = PLASMA;
    cell.small = ONE;
    cell.side = Cell::Side::BOTTOM;
    __assert(cell.kind == Cell::DOOR && cell.colour == ALPHA && cell.state == PLASMA);
    __assert(cell.step == DOWN && cell.small == ONE && cell.side == Cell::Side::BOTTOM);
    __assert(cell.colour - 4 < 0);
    switch (cell.kind) {
    case Cell::DOOR: break;
    default: __assert(false);
    }
}
