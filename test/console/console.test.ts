/** The console and the connect page in a browser. One server and one browser serve all tests. */
import { describe } from 'vitest';
import { describeInBrowser } from '../support/stage.ts';
import { testAgents } from './agents.ts';
import { testApprovals } from './approvals.ts';
import { testChanges } from './changes.ts';
import { testConnect } from './connect.ts';
import { testDeliveries } from './deliveries.ts';
import { testDemoSession } from './demo-session.ts';
import { testDiagnosis } from './diagnosis.ts';
import { testFirstRun } from './first-run.ts';
import { testLive } from './live.ts';
import { testNewcomer } from './newcomer.ts';
import { testPages } from './pages.ts';
import { testPlans } from './plans.ts';
import { testShell } from './shell.ts';
import { openConsoleStage } from './stage.ts';
import { testStates } from './states.ts';

describeInBrowser(openConsoleStage, (stage) => {
  // The first suite does not change the demo. Later ones may delete rows and restart the server.
  describe('pages', () => testPages(stage));
  describe('shell', () => testShell(stage));
  describe('demo session', () => testDemoSession(stage));
  describe('first run', () => testFirstRun(stage));
  describe('newcomer', () => testNewcomer(stage));
  describe('connect', () => testConnect(stage));
  describe('agents', () => testAgents(stage));
  describe('approvals', () => testApprovals(stage));
  describe('deliveries', () => testDeliveries(stage));
  describe('diagnosis', () => testDiagnosis(stage));
  describe('states', () => testStates(stage));
  describe('changes', () => testChanges(stage));
  describe('plans', () => testPlans(stage));
  describe('live', () => testLive(stage));
});
