/** Choices that the reference API leaves open about pages, closed lists, failed writes and claimed domains. */
import { expect } from 'vitest';
import type { Fixture } from '../support/conformance/fixture.ts';
import type { Choice, Section } from '../support/conformance/rule.ts';

const LISTS = ['topics', 'destinations', 'groups', 'consumers', 'connections'];

const pageChoices: Choice[] = [
  {
    open: 'Page sizes of lists that return an array',
    title:
      'A page has at most 1000 items by default. `pageSize` and `pageToken` work as in other lists, and the header `Link` has the URL of the next page. A `pageSize` outside of 1 to 1000 returns 400.',
    rest: async ({ base, get, post, request, expectRefusal, createUniqueName }) => {
      for (let count = 0; count < 2; count += 1)
        await post(`${base}/topics`, { name: createUniqueName('page') });
      const first = await request('GET', `${base}/topics?pageSize=1`);
      expect(first.body).toHaveLength(1);
      const next = /^<\/v1(.+)>; rel="next"$/.exec(first.headers.link ?? '')?.[1] ?? '';
      const [second] = await get(next);
      expect(second.id).not.toBe(first.body[0].id);
      for (const list of LISTS) {
        for (const size of [0, 1001, 'many']) {
          const refusal = await expectRefusal('GET', `${base}/${list}?pageSize=${size}`);
          expect(refusal).toMatchObject({
            status: 400,
            issues: [{ in: 'query', name: 'pageSize' }],
          });
        }
      }
    },
  },
];

const closedListChoices: Choice[] = [
  {
    open: 'Event types beyond the closed list of the reference API',
    title:
      'Only routes that the project creates lead to further event types, so a client of the reference API receives none. A type that is not in the list of `/v1/openapi.json` returns 400, and `detail` names the accepted types.',
    rest: async ({ base, expectRefusal, createTopic }) => {
      const body = { eventType: 'connection.renamed', topicId: await createTopic() };
      const path = `${base}/notification-event-topic-routes`;
      expect(await expectRefusal('POST', path, body)).toMatchObject({
        status: 400,
        issues: [{ name: 'eventType', detail: expect.stringContaining('connection.created') }],
      });
      const list = `${path}?eventType=connection.renamed`;
      expect(await expectRefusal('GET', list)).toMatchObject({ status: 400 });
    },
  },
  {
    open: 'Status and body of a synchronous write that fails',
    title:
      '422 with the result of the write as `application/json`: `operationId`, `result`, and `errors` with the reasons. If `Accept` names `application/problem+json`, the body is a problem that also has these members. A batch of which some records were written returns 200.',
    rest: async ({ request, objectPath }) => {
      const write = { groupRef: 'acme', type: 'create' };
      const record = { lastname: 'No email' };
      const single = await request('POST', objectPath, { ...write, record });
      expect([single.status, single.body]).toMatchObject([
        422,
        { operationId: expect.any(String), result: { success: false }, errors: [{}] },
      ]);
      const batch = [{ record }, { record: { ...record, email: 'written@example.test' } }];
      const partial = await request('POST', objectPath, { ...write, batch });
      expect([partial.status, partial.body]).toMatchObject([200, { successCount: 1 }]);
    },
  },
];

const claim = async ({ builder, tenant }: Fixture, domain: string) =>
  builder.request('POST', '/claimed-domains', {
    domain,
    parentId: tenant.orgId,
    parentType: 'org',
  });

const domainChoices: Choice[] = [
  {
    open: 'Domains with `www.`, and quoted email addresses, in claimed domains',
    title:
      'A leading `www.` of a domain name and of a URL is omitted. An email address at a `www.` host, and an address whose quoted part has a space or an `@`, return 400. Another quoted address has the domain after its `@`.',
    rest: async (fixture) => {
      const name = fixture.createUniqueName('www');
      const accepted = await claim(fixture, `www.${name}.example.com`);
      expect(accepted.status).toBe(201);
      expect(accepted.headers.location).toContain(`domain=${name}.example.com`);
      for (const domain of [
        `ann@www.${name}.example.org`,
        `"ann lee"@${name}.example.org`,
        `"ann@home"@${name}.example.org`,
      ]) {
        const { status, body } = await claim(fixture, domain);
        expect([domain, status, body.issues]).toMatchObject([domain, 400, [{ name: 'domain' }]]);
      }
      const quoted = await claim(fixture, `"ann"@${name}.example.net`);
      expect(quoted.headers.location).toContain(`domain=${name}.example.net`);
    },
  },
];

export const openChoices: Section = {
  title: 'Pages, closed lists, failed writes and domains',
  rules: [],
  choices: [...pageChoices, ...closedListChoices, ...domainChoices],
};
