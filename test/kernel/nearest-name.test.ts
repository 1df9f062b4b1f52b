import { expect, test } from 'vitest';
import { createNameFinder, findNearestName } from '../../src/kernel/nearest-name.ts';

test.each([
  ['lastnam', 'lastname'],
  ['lastnaem', 'lastname'],
  ['LastName', 'lastname'],
  ['compannies', 'companies'],
  ['comapneis', 'companies'],
  ['emial', 'email'],
  ['emails', 'email'],
  ['emmial', 'email'],
  ['ocmpanies', 'companies'],
  ['companiesx', 'companies'],
])('finds the name that %s probably means', (name, nearestName) => {
  expect(findNearestName(name, ['id', 'email', 'lastname', 'companies'])).toBe(nearestName);
});

test.each([
  'is',
  'emmiali',
  'loyalty_tier',
  '',
  'lst',
  'companiesorcontacts',
])('finds no name that differs too much from "%s"', (name) => {
  expect(findNearestName(name, ['id', 'email', 'lastname', 'companies'])).toBeNull();
});

test('prefers the name with the fewest errors, and the first of equal ones', () => {
  expect(findNearestName('phones', ['phonea', 'phone1s', 'phone'])).toBe('phonea');
  expect(findNearestName('lastnames', ['last_names_', 'lastname'])).toBe('lastname');
});

test('permits fewer errors in a name on request', () => {
  const tolerance = { lettersPerError: 6 };
  expect(findNearestName('emial', ['email'], tolerance)).toBe('email');
  expect(findNearestName('emmial', ['email'], tolerance)).toBeNull();
  expect(findNearestName('meeting_id', ['meeting_uuid'], tolerance)).toBeNull();
});

test('searches for the first 20 distinct names only', () => {
  const findName = createNameFinder(['lastname']);
  expect(findName('lastnam')).toBe('lastname');
  for (let count = 1; count < 20; count += 1) expect(findName(`fax${count}`)).toBeNull();
  expect(findName('lastnaem')).toBeNull();
  expect(findName('lastnam')).toBe('lastname');
});
