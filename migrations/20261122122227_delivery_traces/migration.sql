-- AlterTable
ALTER TABLE "Delivery" ADD COLUMN     "traceparent" TEXT;
