/** Forms decode requests, encode responses, and locate problems by one declaration. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  byName,
  list,
  members,
  merge,
  nested,
  only,
  optional,
  same,
  word,
} from '../../../src/rest/endpoint/form.ts';
import { configForm } from '../../../src/rest/integrations/installation/config/config-form.ts';

const form = merge(
  nested(
    'options',
    members<{ isOpen: boolean; mode: string }>({
      isOpen: ['open', z.boolean()],
      mode: word(z.string()),
    }),
    (schema) => schema,
  ),
  members<{ owners: unknown; tags: unknown; note: unknown }>({
    owners: ['ownersByName', byName('name', only('role', word(z.string())))],
    tags: optional(list(same(z.string())), 'Tags.'),
    note: z.string().nullish(),
  }),
);
const wire = {
  options: { open: true, mode: 'ifEmpty' },
  ownersByName: { ann: 'admin', ben: 'reader' },
  tags: ['a'],
};
const value = {
  isOpen: true,
  mode: 'IF_EMPTY',
  owners: [
    { name: 'ann', role: 'ADMIN' },
    { name: 'ben', role: 'READER' },
  ],
  tags: ['a'],
};

describe('a form', () => {
  test('decodes requests and encodes responses', () => {
    expect(form.schema.parse(wire)).toEqual(wire);
    expect(form.decode(wire)).toEqual(value);
    expect(form.encode(value)).toEqual(wire);
  });

  test('keeps null in requests, and omits null and empty lists from responses', () => {
    expect(form.decode({ ownersByName: {}, note: null })).toEqual({ owners: [], note: null });
    expect(form.encode({ ...value, tags: [], note: null })).toEqual({
      options: wire.options,
      ownersByName: wire.ownersByName,
    });
  });

  test.each([
    [['isOpen'], ['options', 'open']],
    [['owners'], ['ownersByName']],
    [
      ['owners', 1, 'name'],
      ['ownersByName', 'ben'],
    ],
    [
      ['owners', 1, 'role'],
      ['ownersByName', 'ben'],
    ],
    [
      ['owners', 7],
      ['ownersByName', 7],
    ],
    [
      ['tags', 0],
      ['tags', 0],
    ],
    [['other'], ['other']],
    [[], []],
  ])('locates %j', (path, located) => {
    expect(form.locate(wire, path)).toEqual(located);
  });
});

test('locates a problem of the fields of a written object in the form that has the field', () => {
  const config = {
    write: {
      objects: {
        contacts: {
          selectedFieldSettings: { email: {} },
          selectedValueDefaults: { city: { value: 'Rome' } },
        },
      },
    },
  };
  const locate = (...path: (string | number)[]) =>
    configForm.locate(config, ['write', 0, ...path]).slice(3);
  expect(locate('fields')).toEqual(['selectedFieldSettings']);
  expect(locate('fields', 0, 'writeOnUpdate')).toEqual([
    'selectedFieldSettings',
    'email',
    'writeOnUpdate',
  ]);
  expect(locate('fields', 1, 'default')).toEqual(['selectedValueDefaults', 'city', 'value']);
  expect(locate('deletionEnabled')).toEqual(['deletionSettings', 'enabled']);
});

test('shows no empty default for a field that has none', () => {
  const field = {
    fieldName: 'city',
    default: null,
    defaultOnUpdate: false,
    writeOnCreate: 'ALWAYS',
    writeOnUpdate: 'IF_EMPTY',
  };
  const write = [{ objectName: 'contacts', deletionEnabled: false, fields: [field] }];
  expect(configForm.encode({ read: [], write })).toMatchObject({
    write: {
      objects: {
        contacts: {
          selectedFieldSettings: { city: { writeOnCreate: 'always', writeOnUpdate: 'ifEmpty' } },
        },
      },
    },
  });
});
