-- The key of NotificationEventTopic begins with its project. A migration of its own: no table is locked while another one is indexed.
CREATE UNIQUE INDEX "NotificationEventTopic_of_project_key" ON "NotificationEventTopic"("projectId", "eventId", "topicId");
ALTER TABLE "NotificationEventTopic" DROP CONSTRAINT "NotificationEventTopic_pkey", ADD CONSTRAINT "NotificationEventTopic_pkey" PRIMARY KEY USING INDEX "NotificationEventTopic_of_project_key";
