import { BadRequest, byCursor } from '../../paging.ts';
import {
  BEARER,
  bodyAsQuery,
  isObject,
  membersOf,
  tooLong,
  type Values,
  type WireVendor,
} from '../../terms.ts';
import type { StoredRecord } from '../../vendor-store.ts';

const VERSION = '2025-09-03';
const SOURCE = '1f4e2c3d-0000-4000-8000-000000000001';
const OPERATORS = ['on_or_after', 'on_or_before'];

/** Cut to the minute, as the vendor shows and compares it. */
function minuteOf({ changedAt }: StoredRecord): string {
  return `${changedAt.toISOString().slice(0, 16)}:00.000Z`;
}

function conditionsIn(body: unknown): [operator: string, time: Date][] {
  const filter = isObject(body) ? body.filter : undefined;
  if (filter === undefined) return [];
  const all = isObject(filter) ? filter.and : undefined;
  if (!Array.isArray(all) || all.length === 0)
    throw new BadRequest('filter.and should be an array');
  return all.map((one) => {
    const { timestamp, last_edited_time: bounds } = isObject(one) ? one : {};
    const [operator = '', time] = Object.entries(isObject(bounds) ? bounds : {})[0] ?? [];
    if (timestamp !== 'last_edited_time' || !OPERATORS.includes(operator)) {
      throw new BadRequest('body failed validation: filter');
    }
    return [operator, new Date(String(time))];
  });
}

/** A title is a list of parts of a text, under its name or `title`, which is its id in every data source. */
function titleIn(properties: Values): Values {
  const given = properties.title ?? properties.Name;
  const parts = isObject(given) ? given.title : undefined;
  if (!Array.isArray(parts)) throw new BadRequest('body.properties.title should be defined');
  const texts = parts.map((part) => {
    const text = isObject(part) && isObject(part.text) ? part.text.content : undefined;
    if (typeof text !== 'string') throw new BadRequest('text.content should be a string');
    return text;
  });
  return { title: texts.join('') };
}

export const notion: WireVendor = {
  objectName: SOURCE,
  textField: 'title',
  missingId: '59833787-0000-4000-8000-999999999999',
  fixture: {
    idOf: (n) => `59833787-0000-4000-8000-${String(n).padStart(12, '0')}`,
    headers: { ...BEARER, 'Notion-Version': VERSION },
    contentType: 'application/json',
    invalidStatus: 400,
    refusal: (status, message) => ({
      object: 'error',
      status,
      code: 'validation_error',
      message,
      request_id: 'r1',
    }),
    problemWith: tooLong('title'),
    // What goes to the trash is updated.
    other: ({ method, path, body }, store) => {
      const record = store.find(path.replace('/v1/pages/', ''));
      if (method !== 'PATCH' || !record || !isObject(body) || body.in_trash !== true)
        return undefined;
      store.remove(record);
      return { status: 200, body: { object: 'page', id: record.id, in_trash: true } };
    },
    object: {
      show: (record) => ({
        object: 'page',
        id: record.id,
        last_edited_time: minuteOf(record),
        in_trash: false,
        parent: { type: 'data_source_id', data_source_id: SOURCE },
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
        },
      }),
      lists: [
        {
          method: 'POST',
          path: `/v1/data_sources/${SOURCE}/query`,
          order: 'oldestChange',
          filter: (records, { body }) => {
            const conditions = conditionsIn(body);
            return records.filter((record) =>
              conditions.every(([operator, time]) => {
                const edited = new Date(minuteOf(record));
                return operator === 'on_or_after' ? edited >= time : edited <= time;
              }),
            );
          },
          page: (records, request, url) => {
            const page = byCursor({ name: 'page_size', fallback: 100, max: 100 }, 'start_cursor');
            return page(records, { ...request, query: bodyAsQuery(request.body) }, url);
          },
          answer: (results, { next }) => ({
            object: 'list',
            results,
            next_cursor: next,
            has_more: next !== null,
          }),
        },
      ],
      one: { path: '/v1/pages/:id', answer: (record) => record },
      create: {
        method: 'POST',
        path: '/v1/pages',
        status: 200,
        valuesIn: (body) => {
          const parent = isObject(body) && isObject(body.parent) ? body.parent : {};
          if (parent.data_source_id !== SOURCE) throw new BadRequest('body.parent is wrong');
          return titleIn(membersOf('properties')(body));
        },
        answer: (record) => record,
      },
      update: {
        method: 'PATCH',
        path: '/v1/pages/:id',
        status: 200,
        valuesIn: (body) => titleIn(membersOf('properties')(body)),
        answer: (record) => record,
      },
      fields: {
        path: `/v1/data_sources/${SOURCE}`,
        body: {
          object: 'data_source',
          id: SOURCE,
          properties: {
            Name: { id: 'title', name: 'Name', type: 'title', title: {} },
            Done: { id: 'a%3Ab', name: 'Done', type: 'checkbox', checkbox: {} },
          },
        },
      },
    },
  },
};
