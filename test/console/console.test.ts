/** The console and the connect page in a browser. One server and one browser serve all of it. */
import { describe } from 'vitest';
import { inBrowser } from '../support/stage.ts';
import { testChanges } from './changes.ts';
import { testConnect } from './connect.ts';
import { testDeliveries } from './deliveries.ts';
import { testDemoSession } from './demo-session.ts';
import { testLive } from './live.ts';
import { testNewcomer } from './newcomer.ts';
import { testPages } from './pages.ts';
import { openConsoleStage } from './stage.ts';

inBrowser(openConsoleStage, (stage) => {
  // The first one leaves the demo as it is; a later one may delete and restart.
  describe('pages', () => testPages(stage));
  describe('demo session', () => testDemoSession(stage));
  describe('newcomer', () => testNewcomer(stage));
  describe('connect', () => testConnect(stage));
  describe('deliveries', () => testDeliveries(stage));
  describe('changes', () => testChanges(stage));
  describe('live', () => testLive(stage));
});
