// The frame of the board's pages, with their navigation.
import type { Assets } from '../assets.ts';
import { createLayout, type Layout } from '../layout.ts';

export const boardSection = { address: '/board', title: 'Board', short: 'Board' };
export const runbookSection = { address: '/board/runbooks', title: 'Runbooks', short: 'Runbooks' };
const documentation = { address: '/docs', title: 'Documentation', short: 'Documentation' };

export function boardLayout(assets: Assets): Layout {
  return createLayout(assets, [boardSection, runbookSection, documentation]);
}
