/** GraphiQL, the REST reference and pages of builders in a real browser. One app and one browser serve all tests. */
import { describe } from 'vitest';
import { describeInBrowser } from '../support/stage.ts';
import { testBuilderPage } from './builder-page.ts';
import { testEndUserPage } from './end-user-page.ts';
import { testGraphiql } from './graphiql.ts';
import { testReferencePage } from './reference-page.ts';
import { openPagesStage } from './stage.ts';

describeInBrowser(openPagesStage, (getStage) => {
  describe('reference page', () => testReferencePage(getStage));
  describe('GraphiQL', () => testGraphiql(getStage));
  describe('page of a builder', () => testBuilderPage(getStage));
  describe('page of an end user', () => testEndUserPage(getStage));
});
