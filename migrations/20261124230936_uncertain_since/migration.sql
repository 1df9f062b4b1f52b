-- AlterTable
ALTER TABLE "WriteTask" ADD COLUMN     "uncertainSince" TIMESTAMPTZ(3);
