import { enumType } from './inputs.ts';

enumType('ListOrder', 'The order of a list, by when its items were created.', {
  NEWEST_FIRST: 'What was created last comes first.',
  OLDEST_FIRST: 'What was created first comes first.',
});
