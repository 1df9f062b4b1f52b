-- GitHub and Shopify ignore case in names of accounts. Their events are now matched by names in lower case.
UPDATE "ObjectSubscription" SET "account" = lower("account")
WHERE "provider" IN ('github', 'shopify') AND "account" <> lower("account");
