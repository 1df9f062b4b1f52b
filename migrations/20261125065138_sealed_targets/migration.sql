-- AlterTable
ALTER TABLE "Destination" ADD COLUMN     "headersSealed" TEXT,
ADD COLUMN     "urlSealed" TEXT;
