/** GraphiQL, the REST reference and pages of builders in a real browser. One app and one browser serve all tests. */
import { describe } from 'vitest';
import { describeInBrowser } from '../support/stage.ts';
import { testBuilderPage } from './builder-page.ts';
import { testEndUserPage } from './end-user-page.ts';
import { testGraphiql } from './graphiql.ts';
import { testReferencePage } from './reference-page.ts';
import { openPagesStage } from './stage.ts';

describeInBrowser(openPagesStage, (stage) => {
  describe('reference page', () => testReferencePage(stage));
  describe('GraphiQL', () => testGraphiql(stage));
  describe('page of a builder', () => testBuilderPage(stage));
  describe('page of an end user', () => testEndUserPage(stage));
});
