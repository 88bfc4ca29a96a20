// The frame of the board's pages, with their navigation.
import type { Assets } from '../assets.ts';
import { createLayout, type Layout } from '../layout.ts';

export const boardSection = { address: '/board', short: 'Board' };
const runbookSection = { address: '/docs/runbooks', short: 'Runbooks' };
const documentation = { address: '/docs', short: 'Documentation' };

export function boardLayout(assets: Assets): Layout {
  return createLayout(assets, [boardSection, runbookSection, documentation]);
}
