/** GraphiQL and pages of builders in a real browser. One server and one browser serve all of it. */
import { afterAll, beforeAll, describe } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { testBuilderPage } from './builder-page.ts';
import { testEndUserPage } from './end-user-page.ts';
import { testGraphiql } from './graphiql.ts';
import { openStage, type Stage } from './stage.ts';

if (noBrowser) console.warn(noBrowser);

let opened: Stage;
const stage = () => opened;

describe.skipIf(noBrowser)('in a browser', () => {
  beforeAll(async () => {
    opened = await openStage();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  describe('GraphiQL', () => testGraphiql(stage));
  describe("a builder's page", () => testBuilderPage(stage));
  describe("an end user's page", () => testEndUserPage(stage));
});
