/** The text of a list's statement depends on the shape of the list, and not on its values. */
import { expect, test } from 'vitest';
import type { AnyList } from '../../../../src/database/statements/reads/list-shape.ts';
import { getListStatement } from '../../../../src/database/statements/reads/list-statement.ts';
import type { RowList } from '../../../../src/database/statements/reads/row-list.ts';

const range = { column: 'id', direction: 'desc', limit: 3 } as const;
const link = { table: 'Group', column: 'groupId', where: { projectId: 'prj_1' } } as const;

const getRowsStatement = (...lists: AnyList[]) => getListStatement('rows', lists);

function getPageStatement(
  where: object,
  options: Partial<RowList> & { above?: string; limit?: number } = {},
) {
  const { above, limit = 3, ...list } = options;
  const bounds = { ...range, limit, ...(above !== undefined && { above }) };
  return getRowsStatement({ table: 'Connection', where: where as never, range: bounds, ...list });
}

test('returns one text for lists that differ only in their values', () => {
  const [text, values] = getPageStatement(
    { projectId: 'prj_1', status: ['WORKING'] },
    { above: 'a' },
  );
  const [otherText, otherValues] = getPageStatement(
    { projectId: 'prj_2', status: ['ERROR'] },
    { above: 'b', limit: 5 },
  );
  expect(otherText).toBe(text);
  expect(values).toEqual(['prj_1', 'WORKING', 'a', 3]);
  expect(otherValues).toEqual(['prj_2', 'ERROR', 'b', 5]);
});

test('returns another text for each shape of a list', () => {
  const where = { projectId: 'prj_1' };
  const indexPrefix = ['projectId', 'status'];
  const statementTexts = [
    getPageStatement(where),
    getPageStatement({ projectId: null }),
    getPageStatement({ projectId: ['prj_1', 'prj_2'] }),
    getPageStatement({ projectId: ['prj_1', 'prj_2', 'prj_3'] }),
    getPageStatement({ projectId: { projectsOfOrgs: ['org_1'] } }),
    getPageStatement({ createTime: { after: new Date(0) } }),
    getPageStatement({ createTime: { upTo: new Date(0) } }),
    getPageStatement(where, { above: 'a' }),
    getPageStatement({ ...where, status: 'WORKING' }),
    getPageStatement({ ...where, status: 'WORKING' }, { indexPrefix }),
    getPageStatement({ ...where, status: 'WORKING' }, { indexPrefix, above: 'a' }),
    getPageStatement(where, { links: [link] }),
    getPageStatement(where, {
      links: [{ ...link, where: { projectId: { projectsOfOrgs: ['org_1'] } } }],
    }),
    getPageStatement(where, { links: [{ ...link, table: 'Consumer', column: 'consumerId' }] }),
    getRowsStatement({ table: 'Connection', where }),
    getRowsStatement(
      { table: 'Connection', where },
      { table: 'Connection', where: { projectId: 'prj_2' } },
    ),
    getListStatement('count', [{ table: 'Connection', where }]),
  ].map(([text]) => text);
  expect(new Set(statementTexts).size).toBe(statementTexts.length);
});

test('ignores an undefined condition', () => {
  const [text, values] = getPageStatement({ projectId: 'prj_1', status: undefined });
  expect(text).toBe(getPageStatement({ projectId: 'prj_1' })[0]);
  expect(values).toEqual(['prj_1', 3]);
});

test('passes each value of merged ranges once', () => {
  const [, values] = getPageStatement({
    projectId: 'prj_1',
    status: ['WORKING', 'ERROR', 'WORKING'],
  });
  expect(values).toEqual(['prj_1', 'WORKING', 3, 'prj_1', 'ERROR', 3, 3]);
});
