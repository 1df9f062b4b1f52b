-- AlterTable
ALTER TABLE "Delivery" ADD COLUMN     "isRetrying" BOOLEAN NOT NULL DEFAULT false;
