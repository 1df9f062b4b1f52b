/** The pages of the console and the connect page in a browser. One server and one browser serve all tests. */
import { describe } from 'vitest';
import { describeInBrowser } from '../support/stage.ts';
import { testAgents } from './agents.ts';
import { testApprovals } from './approvals.ts';
import { testConnect } from './connect.ts';
import { testDemoSession } from './demo-session.ts';
import { testFirstRun } from './first-run.ts';
import { testNewcomer } from './newcomer.ts';
import { testPages } from './pages.ts';
import { testShell } from './shell.ts';
import { openConsoleStage } from './stage.ts';

/** The tour of the demo waits for the first retry. Its state after that must last until the tour repairs it. */
const RETRY_SECONDS = '5,36000,36000';

describeInBrowser(
  () => openConsoleStage(RETRY_SECONDS),
  (getStage) => {
    // The first suite does not change the demo. Later ones may delete rows.
    describe('pages', () => testPages(getStage));
    describe('shell', () => testShell(getStage));
    describe('demo session', () => testDemoSession(getStage));
    describe('first run', () => testFirstRun(getStage));
    describe('newcomer', () => testNewcomer(getStage));
    describe('connect', () => testConnect(getStage));
    describe('agents', () => testAgents(getStage));
    describe('approvals', () => testApprovals(getStage));
  },
);
