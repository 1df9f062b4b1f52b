/** Lists and searches of the HubSpot test server. */
import { z } from 'zod';
import { type HubspotRecord, HubspotRefusal, type HubspotStore } from './hubspot-store.ts';
import type { ServedRequest, ServedResponse } from './provider-server.ts';

const LISTED_MAX = 100;
const SEARCHED_MAX = 200;
const SEARCH_CEILING = 10_000;

const searchBody = z.strictObject({
  filterGroups: z
    .array(
      z.strictObject({
        filters: z
          .array(
            z.strictObject({
              propertyName: z.string(),
              operator: z.enum(['GTE', 'LTE', 'GT', 'EQ']),
              value: z.string(),
            }),
          )
          .min(1)
          .max(6),
      }),
    )
    .max(1)
    .default([]),
  sorts: z
    .tuple([
      z.strictObject({
        propertyName: z.literal('hs_object_id'),
        direction: z.literal('ASCENDING'),
      }),
    ])
    .optional(),
  properties: z.array(z.string()).default([]),
  limit: z.int().max(SEARCHED_MAX),
  after: z.string().optional(),
});

/** Lists records. `after` is the ID that the next page starts with. */
export function listRecords(
  store: HubspotStore,
  { query }: ServedRequest,
  [name = '']: string[],
): ServedResponse {
  const limit = Number(query.get('limit') ?? 10);
  if (limit > LISTED_MAX) {
    throw new HubspotRefusal(400, 'VALIDATION_ERROR', `limit must be at most ${LISTED_MAX}`);
  }
  const start = Number(query.get('after') ?? 0);
  const remainingRecords = store.listRecords(name).filter(({ id }) => Number(id) >= start);
  const properties = query.get('properties')?.split(',') ?? [];
  const nextRecord = remainingRecords[limit];
  return {
    status: 200,
    body: {
      results: remainingRecords.slice(0, limit).map((record) => pickProperties(record, properties)),
      ...(nextRecord && {
        paging: { next: { after: nextRecord.id, link: `?after=${nextRecord.id}` } },
      }),
    },
  };
}

/** Searches records. `after` is a position among the hits. */
export function searchRecords(
  store: HubspotStore,
  { body }: ServedRequest,
  [name = '']: string[],
): ServedResponse {
  const { filterGroups, properties, limit, after } = searchBody.parse(body);
  if (after !== undefined && !/^\d+$/.test(after)) {
    const message = `Cannot deserialize value of type \`int\` from String "${after}"`;
    throw new HubspotRefusal(400, 'VALIDATION_ERROR', message);
  }
  const start = Number(after ?? 0);
  const end = start + limit;
  if (end > SEARCH_CEILING) {
    throw new HubspotRefusal(400, 'VALIDATION_ERROR', 'There was a problem with the request.');
  }
  const filters = filterGroups.flatMap((group) => group.filters);
  const hits = store
    .listIndexedRecords(name)
    .filter((record) => filters.every((filter) => matchesFilter(record, filter)));
  return {
    status: 200,
    body: {
      total: hits.length,
      results: hits.slice(start, end).map((record) => pickProperties(record, properties)),
      ...(end < hits.length && { paging: { next: { after: String(end) } } }),
    },
  };
}

type Filter = z.infer<typeof searchBody>['filterGroups'][0]['filters'][0];

function matchesFilter(record: HubspotRecord, { propertyName, operator, value }: Filter): boolean {
  const propertyValue = String(record.properties[propertyName]);
  if (operator === 'EQ') return propertyValue === value;
  const compared = /^\d+$/.test(propertyValue) ? Number(propertyValue) : Date.parse(propertyValue);
  if (operator === 'GTE') return compared >= Number(value);
  return operator === 'LTE' ? compared <= Number(value) : compared > Number(value);
}

function pickProperties(record: HubspotRecord, names: string[]): HubspotRecord {
  const alwaysReturned = ['createdate', 'hs_object_id', 'lastmodifieddate', 'hs_lastmodifieddate'];
  const returnedNames = [...alwaysReturned, ...names].filter((name) => name in record.properties);
  return {
    ...record,
    properties: Object.fromEntries(returnedNames.map((name) => [name, record.properties[name]])),
  };
}

const readBody = z.strictObject({
  inputs: z.array(z.strictObject({ id: z.string() })).max(LISTED_MAX),
  properties: z.array(z.string()),
});

/** Returns the records that exist. The response reports missing ones as errors. */
export function readBatch(
  store: HubspotStore,
  { body }: ServedRequest,
  [name = '']: string[],
): ServedResponse {
  const { inputs, properties } = readBody.parse(body);
  const records = inputs.flatMap(({ id }) => store.find(name, id) ?? []);
  const isPartial = records.length < inputs.length;
  return {
    status: isPartial ? 207 : 200,
    body: {
      status: 'COMPLETE',
      results: records.map((record) => pickProperties(record, properties)),
      ...(isPartial && { errors: [{ status: 'error', category: 'OBJECT_NOT_FOUND' }] }),
    },
  };
}
