/** The console and the connect page in a browser. One server and one browser serve all of it. */
import { afterAll, beforeAll, describe } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { testChanges } from './changes.ts';
import { testConnect } from './connect.ts';
import { testDeliveries } from './deliveries.ts';
import { testLive } from './live.ts';
import { testNewcomer } from './newcomer.ts';
import { testPages } from './pages.ts';
import { openStage, type Stage } from './stage.ts';

if (noBrowser) console.warn(noBrowser);

let opened: Stage;
const stage = () => opened;

describe.skipIf(noBrowser)('in a browser', () => {
  beforeAll(async () => {
    opened = await openStage();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  // The first one leaves the demo as it is; a later one may delete and restart.
  describe('pages', () => testPages(stage));
  describe('newcomer', () => testNewcomer(stage));
  describe('connect', () => testConnect(stage));
  describe('deliveries', () => testDeliveries(stage));
  describe('changes', () => testChanges(stage));
  describe('live', () => testLive(stage));
});
