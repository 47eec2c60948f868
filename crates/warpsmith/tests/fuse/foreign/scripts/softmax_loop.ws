vector7 a, b;
input a;
b = vsoft7(a);
for (i = 0; i < 5; i++) {
    b = vsoft7(b);
}
return b;
