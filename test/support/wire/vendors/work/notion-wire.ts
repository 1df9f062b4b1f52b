import type { ServedRequest, ServedResponse } from '../../../providers/provider-server.ts';
import { BadRequest, byCursor } from '../../paging.ts';
import type { StoredRecord } from '../../vendor-store.ts';
import {
  BEARER,
  createLengthCheck,
  isObject,
  readMembers,
  toQuery,
  type Values,
  type WireVendor,
} from '../../wire-format.ts';

const API_VERSION = '2025-09-03';
const DATA_SOURCE_ID = '1f4e2c3d-0000-4000-8000-000000000001';
const OPERATORS = ['on_or_after', 'on_or_before'];
/** The maximum number of results of one query. */
const RESULTS_MAX = 10_000;
/** A page has at most as many references of a property. */
const REFERENCES_MAX = 25;
const RELATED_IDS = Array.from({ length: 130 }, (_, n) => `related-${n}`);

/** Returns one page of a property's items. The id of a property is encoded in responses as in paths. */
function serveProperty({ method, path, query }: ServedRequest): ServedResponse | undefined {
  if (method !== 'GET' || !/^\/v1\/pages\/[^/]+\/properties\/b%3Ac$/.test(path)) return undefined;
  const from = Number(query.get('start_cursor') ?? 0);
  const to = from + Number(query.get('page_size') ?? 100);
  const hasMore = to < RELATED_IDS.length;
  return {
    status: 200,
    body: {
      object: 'list',
      results: RELATED_IDS.slice(from, to).map((id) => ({
        object: 'property_item',
        id: 'b%3Ac',
        type: 'relation',
        relation: { id },
      })),
      next_cursor: hasMore ? String(to) : null,
      has_more: hasMore,
      type: 'property_item',
    },
  };
}

/** Notion rounds times down to the minute, in responses and in comparisons. */
function roundToMinute({ changedAt }: StoredRecord): string {
  return `${changedAt.toISOString().slice(0, 16)}:00.000Z`;
}

function readConditions(body: unknown): [operator: string, time: Date][] {
  const filter = isObject(body) ? body.filter : undefined;
  if (filter === undefined) return [];
  const conditions = isObject(filter) ? filter.and : undefined;
  if (!Array.isArray(conditions) || conditions.length === 0)
    throw new BadRequest('filter.and should be an array');
  return conditions.map((condition) => {
    const { timestamp, last_edited_time: bounds } = isObject(condition) ? condition : {};
    const [operator = '', time] = Object.entries(isObject(bounds) ? bounds : {})[0] ?? [];
    if (timestamp !== 'last_edited_time' || !OPERATORS.includes(operator)) {
      throw new BadRequest('body failed validation: filter');
    }
    return [operator, new Date(String(time))];
  });
}

/**
 * Returns the title, which is a list of parts. It is under its name or under `title`, which is its ID in
 * every data source.
 */
function readTitle(properties: Values): Values {
  const titleProperty = properties.title ?? properties.Name;
  const parts = isObject(titleProperty) ? titleProperty.title : undefined;
  if (!Array.isArray(parts)) throw new BadRequest('body.properties.title should be defined');
  const texts = parts.map((part) => {
    const text = isObject(part) && isObject(part.text) ? part.text.content : undefined;
    if (typeof text !== 'string') throw new BadRequest('text.content should be a string');
    return text;
  });
  return { title: texts.join('') };
}

export const notion: WireVendor = {
  objectName: DATA_SOURCE_ID,
  textField: 'title',
  missingId: '59833787-0000-4000-8000-999999999999',
  fixture: {
    createId: (n) => `59833787-0000-4000-8000-${String(n).padStart(12, '0')}`,
    headers: { ...BEARER, 'Notion-Version': API_VERSION },
    toErrorBody: (status, message) => ({
      object: 'error',
      status,
      code: 'validation_error',
      message,
      request_id: 'r1',
    }),
    findValueError: createLengthCheck('title'),
    // A page is deleted by an update that moves it to the trash.
    override: (request, store) => {
      const { method, path, body } = request;
      const property = serveProperty(request);
      if (property) return property;
      const record = store.find(path.replace('/v1/pages/', ''));
      if (method !== 'PATCH' || !record || !isObject(body) || body.in_trash !== true)
        return undefined;
      store.remove(record);
      return { status: 200, body: { object: 'page', id: record.id, in_trash: true } };
    },
    object: {
      toVendorRecord: (record) => ({
        object: 'page',
        id: record.id,
        last_edited_time: roundToMinute(record),
        in_trash: false,
        parent: { type: 'data_source_id', data_source_id: DATA_SOURCE_ID },
        properties: {
          Name: {
            id: 'title',
            type: 'title',
            title: [
              {
                type: 'text',
                text: { content: record.values.title, link: null },
                plain_text: record.values.title,
              },
            ],
          },
          Done: { id: 'a%3Ab', type: 'checkbox', checkbox: false },
          Related: {
            id: 'b%3Ac',
            type: 'relation',
            relation: RELATED_IDS.slice(0, REFERENCES_MAX).map((id) => ({ id })),
            has_more: true,
          },
        },
      }),
      lists: [
        {
          method: 'POST',
          path: `/v1/data_sources/${DATA_SOURCE_ID}/query`,
          order: 'oldestChange',
          filter: (records, { body }) => {
            const conditions = readConditions(body);
            return records.filter((record) =>
              conditions.every(([operator, time]) => {
                const edited = new Date(roundToMinute(record));
                return operator === 'on_or_after' ? edited >= time : edited <= time;
              }),
            );
          },
          page: (records, request, url) => {
            const page = byCursor({ name: 'page_size', fallback: 100, max: 100 }, 'start_cursor');
            const query = toQuery(request.body);
            const slice = page(records.slice(0, RESULTS_MAX), { ...request, query }, url);
            return { ...slice, total: records.length };
          },
          toBody: (results, { next, total }) => ({
            object: 'list',
            results,
            next_cursor: next,
            has_more: next !== null,
            ...(total > RESULTS_MAX && {
              request_status: {
                type: 'incomplete',
                incomplete_reason: 'query_result_limit_reached',
              },
            }),
          }),
        },
      ],
      fetchOne: { path: '/v1/pages/:id', toBody: (record) => record },
      create: {
        method: 'POST',
        path: '/v1/pages',
        status: 200,
        readValues: (body) => {
          const parent = isObject(body) && isObject(body.parent) ? body.parent : {};
          if (parent.data_source_id !== DATA_SOURCE_ID)
            throw new BadRequest('body.parent is wrong');
          return readTitle(readMembers('properties')(body));
        },
        toBody: (record) => record,
      },
      update: {
        method: 'PATCH',
        path: '/v1/pages/:id',
        status: 200,
        readValues: (body) => readTitle(readMembers('properties')(body)),
        toBody: (record) => record,
      },
      fields: {
        path: `/v1/data_sources/${DATA_SOURCE_ID}`,
        body: {
          object: 'data_source',
          id: DATA_SOURCE_ID,
          properties: {
            Name: { id: 'title', name: 'Name', type: 'title', title: {} },
            Done: { id: 'a%3Ab', name: 'Done', type: 'checkbox', checkbox: {} },
          },
        },
      },
    },
  },
};
