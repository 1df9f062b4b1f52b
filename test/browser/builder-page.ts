/** A builder's page on an origin of its own. A customer connects and installs there by plain requests. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { CLIENT } from '../support/providers/oauth.ts';
import { checkReferenceShape } from '../support/rest/reference-api.ts';
import { type PagesStage, serveEmptyPage } from './stage.ts';

interface Sent {
  method?: string;
  body?: unknown;
}

export function testBuilderPage(getStage: () => PagesStage) {
  /** Sends a request from the page, and checks the response against the reference API's shapes. */
  async function send(page: Page, path: string, { method = 'GET', body }: Sent = {}) {
    const { url, apiKey } = getStage().server.demo;
    const response = await page.evaluate(
      async ({ to, key, given }) => {
        const headers = { 'x-api-key': key, 'content-type': 'application/json' };
        const response = await fetch(to, {
          method: given.method,
          headers,
          ...(given.body !== undefined && { body: JSON.stringify(given.body) }),
        });
        const type = response.headers.get('content-type') ?? undefined;
        return { status: response.status, contentType: type, text: await response.text() };
      },
      { to: `${url}/v1${path}`, key: apiKey, given: { method, body } },
    );
    const { status, contentType, text } = response;
    const isJson = contentType?.includes('json');
    const read = isJson && text !== '' ? JSON.parse(text) : text;
    checkReferenceShape({ method, path, status, contentType, body: read });
    expect(status, text).toBeLessThan(400);
    return read;
  }

  async function openPage(): Promise<Page> {
    const page = await getStage().browser.newPage();
    await page.goto(getStage().allowedOrigin);
    return page;
  }

  test('lets a customer connect, choose fields, install, change and uninstall', async () => {
    const page = await openPage();
    const project = '/projects/demo';
    const { authType } = await send(page, '/providers/sandbox');
    expect(authType).toBe('apiKey');
    const connection = await send(page, `${project}/connections:generate`, {
      method: 'POST',
      body: {
        provider: 'sandbox',
        groupRef: 'of-the-page',
        consumerRef: 'ann',
        apiKey: 'sandbox-key',
      },
    });
    const { id: integrationId, latestRevision } = await send(
      page,
      `${project}/integrations/crm-sync`,
    );
    const integration = `${project}/integrations/${integrationId}`;
    const { content } = await send(
      page,
      `${integration}/revisions/${latestRevision.id}:hydrate?connectionId=${connection.id}`,
    );
    const [contacts] = content.read.objects;
    expect(contacts.requiredFields[0]).toMatchObject({ fieldName: 'email', displayName: 'Email' });
    const fields = [...contacts.requiredFields, ...contacts.optionalFields];
    const selectedFields = Object.fromEntries(
      fields.map(({ fieldName }: { fieldName: string }) => [fieldName, true]),
    );
    const { objectName } = contacts;
    const objectConfig = { objectName, selectedFields, selectedFieldMappings: {} };
    const installation = await send(page, `${integration}/installations`, {
      method: 'POST',
      body: {
        groupRef: 'of-the-page',
        connectionId: connection.id,
        config: {
          revisionId: latestRevision.id,
          createdBy: 'consumer:ann',
          content: {
            provider: 'sandbox',
            read: { objects: { contacts: { ...objectConfig, selectedValueMappings: {} } } },
            proxy: { enabled: true },
          },
        },
      },
    });
    expect(installation.config.content.read.objects.contacts).toMatchObject(objectConfig);
    const { fields: made } = await send(page, `${integration}/object-metadata`, {
      method: 'PUT',
      body: {
        groupRef: 'of-the-page',
        fields: { people: [{ fieldName: 'hobby', displayName: 'Hobby', valueType: 'string' }] },
      },
    });
    expect(made.contacts.hobby).toMatchObject({ action: 'create' });
    const { result } = await send(page, `${integration}?groupRef=of-the-page`, {
      method: 'POST',
      body: {
        objectName: contacts.mapToName,
        fieldFilters: [{ fieldName: 'lifecycle', operator: 'eq', value: 'lead' }],
      },
    });
    expect(result.length).toBeGreaterThan(0);
    for (const { raw } of result) expect(raw.lifecycle).toBe('lead');
    const installationPath = `${integration}/installations/${installation.id}`;
    const changed = await send(page, installationPath, {
      method: 'PATCH',
      body: {
        updateMask: ['config.content.read.objects.contacts'],
        installation: {
          config: {
            content: { read: { objects: { contacts: { objectName, disabled: true } } } },
          },
        },
      },
    });
    expect(changed.config.content.read.objects.contacts.disabled).toBe(true);
    expect(changed.config.content.proxy).toEqual({ enabled: true });
    await send(page, installationPath, { method: 'DELETE' });
    const remaining = await send(page, `${integration}/installations?groupRef=of-the-page`);
    expect(remaining).toEqual([]);
    await page.close();
  });

  /** Opens the consent page in a window, and records its message. */
  async function openConsent(page: Page, consumerRef: string): Promise<Page> {
    const url = await send(page, '/oauth-connect', {
      method: 'POST',
      body: {
        projectIdOrName: 'demo',
        provider: 'sandbox',
        groupRef: 'of-the-window',
        consumerRef,
        enableCSRFProtection: true,
      },
    });
    const popupPromise = page.waitForEvent('popup');
    await page.evaluate((to) => {
      const opener = window as unknown as { firstMessage: Promise<unknown> };
      opener.firstMessage = new Promise((resolve) => {
        window.addEventListener('message', ({ origin: from, data }) => resolve({ from, data }));
      });
      window.open(to, 'consent', 'popup');
    }, url);
    return popupPromise;
  }

  test('reports the result of the consent window to its opener, and closes it', async () => {
    const page = await openPage();
    await send(page, '/projects/demo/provider-apps', {
      method: 'POST',
      body: { provider: 'sandbox', ...CLIENT },
    });
    const { origin: from } = new URL(getStage().server.demo.url);
    const approvedConsent = await openConsent(page, 'ann');
    const approvedClosed = approvedConsent.waitForEvent('close');
    await approvedConsent.getByRole('button', { name: 'Approve' }).click();
    const { data, ...source } = (await messageTo(page)) as { from: string; data: { data: object } };
    expect(source).toEqual({ from });
    expect(data).toEqual({
      eventType: 'AUTHORIZATION_SUCCEEDED',
      data: { connection: expect.stringMatching(/^con_/) },
    });
    await approvedClosed;
    const [connection] = await send(page, '/projects/demo/connections?groupRef=of-the-window');
    expect(data.data).toEqual({ connection: connection.id });

    const denied = await openConsent(page, 'bob');
    const deniedClosed = denied.waitForEvent('close');
    await denied.getByRole('button', { name: 'Deny' }).click();
    expect(await messageTo(page)).toMatchObject({
      from,
      data: { eventType: 'AUTHORIZATION_FAILED', data: { error: 'access_denied' } },
    });
    await deniedClosed;
    await page.close();
  });

  /** The page of the link shows the customer and waits for a click. */
  async function continueFrom(link: Page): Promise<void> {
    const onward = link.getByRole('link', { name: 'Continue to' });
    await onward.waitFor();
    expect(await link.getByRole('main').innerText()).toContain('of-the-link');
    await onward.click();
  }

  test('waits for a click on the page of a link, in a new and in the same window', async () => {
    const page = await openPage();
    const url = await send(page, '/oauth-connect', {
      method: 'POST',
      body: {
        projectIdOrName: 'demo',
        provider: 'sandbox',
        groupRef: 'of-the-link',
        consumerRef: 'c',
      },
    });
    await page.evaluate((href) => {
      for (const target of ['_blank', '_self']) {
        const link = Object.assign(document.createElement('a'), { href, target });
        link.textContent = target;
        document.body.append(link);
      }
    }, url);
    const popupPromise = page.waitForEvent('popup');
    await page.getByRole('link', { name: '_blank' }).click();
    const window = await popupPromise;
    await continueFrom(window);
    await window.getByRole('button', { name: 'Approve' }).waitFor();
    await window.close();
    await page.getByRole('link', { name: '_self' }).click();
    await continueFrom(page);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('You can close this window.').waitFor();
    await page.close();
  });

  test('waits for a click in a window from another origin, and reports nothing to it', async () => {
    await using otherTenant = await serveEmptyPage();
    const page = await openPage();
    const url = await send(page, '/oauth-connect', {
      method: 'POST',
      body: {
        projectIdOrName: 'demo',
        provider: 'sandbox',
        groupRef: 'of-the-link',
        consumerRef: 'c',
      },
    });
    await page.goto(otherTenant.origin);
    const popupPromise = page.waitForEvent('popup');
    await page.evaluate((to) => {
      const opener = window as unknown as { messages: unknown[] };
      opener.messages = [];
      window.addEventListener('message', ({ data }) => opener.messages.push(data));
      window.open(to, 'consent', 'popup');
    }, url);
    const consent = await popupPromise;
    await continueFrom(consent);
    const closed = consent.waitForEvent('close');
    await consent.getByRole('button', { name: 'Approve' }).click();
    await closed;
    expect(
      await page.evaluate(() => (window as unknown as { messages: unknown[] }).messages),
    ).toEqual([]);
    await page.close();
  });
}

const messageTo = (page: Page) =>
  page.evaluate(() => (window as unknown as { firstMessage: Promise<unknown> }).firstMessage);
