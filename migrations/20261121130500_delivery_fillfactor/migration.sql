-- A claim changes no column of an index. With room left on the page of its row, it leaves all indexes alone.
ALTER TABLE "Delivery" SET (fillfactor = 80);
