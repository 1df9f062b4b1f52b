import { expect, onTestFinished, test } from 'vitest';
import { createTestApp } from '../../support/app.ts';
import {
  installActiveOnOrg,
  installOnOrg,
  startSalesforceOrg,
} from '../../support/fixtures/salesforce-events.ts';
import { SUBSCRIPTION_POLLING } from '../../support/fixtures/subscriptions.ts';
import {
  createCertificate,
  hasOpenssl,
  trustCertificate,
} from '../../support/outbound/certificates.ts';

test.skipIf(!hasOpenssl)(
  'streams events over TLS, and sends no token to a host with a wrong certificate',
  async () => {
    const certificate = createCertificate('localhost');
    await using org = await startSalesforceOrg(certificate);
    const addressUrl = new URL(org.stream.url);
    addressUrl.hostname = '127.0.0.1';
    onTestFinished(trustCertificate(certificate));
    {
      await using app = await createTestApp({
        env: { ...org.env, SALESFORCE_PUBSUB_URL: addressUrl.origin },
      });
      await app.app.start();
      const installation = await installOnOrg(app, await app.createTenant(), org);
      const fetchSubscription = async () => (await installation.listSubscriptions())[0];
      await expect
        .poll(async () => (await fetchSubscription())?.error, SUBSCRIPTION_POLLING)
        .toMatch(/UNAVAILABLE/);
      expect(org.stream.getTopicCallCount).toBe(0);
    }
    await using app = await createTestApp({ env: org.env });
    await app.app.start();
    const installation = await installActiveOnOrg(app, await app.createTenant(), org);
    const id = org.create({ Email: 'ada@example.test' });
    expect(await installation.waitForEntries(1)).toMatchObject([
      { subscribeEventType: 'create', id },
    ]);
    expect(org.stream.getTopicCallCount).toBeGreaterThan(0);
  },
);
