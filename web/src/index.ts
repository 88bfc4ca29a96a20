// The pages of the shop, which the gateway serves: documentation, problems, board, and the e-mails of a local shop.
import { readAssets } from './assets.ts';
import { type BoardOptions, boardPages } from './board/board.ts';
import { type DocumentationSources, docsPages } from './docs/docs.ts';
import { problemPages } from './docs/problem-pages.ts';
import { helpPage } from './help-page.ts';
import { mailPages, type ShownEmails } from './mail/mail.ts';
import type { FindPage, PageRequest, PageResponse } from './page.ts';
import { storefront } from './storefront.ts';

export type { OperationFigures } from './board/board-streams.ts';
export type { UpstreamView } from './board/part-states.ts';
export type { MetricsAddresses } from './board/shop-figures.ts';
export type { PublishedContract } from './docs/published-document.ts';
export type { Page } from './page.ts';
export type { BoardOptions, DocumentationSources, FindPage, PageRequest, PageResponse, ShownEmails };

export interface PagesOptions {
  /** The options of the board; undefined when it is switched off. Then its addresses return 404. */
  readonly board: BoardOptions | undefined;
  /** The e-mails that are shown to clients on this machine; undefined for none. */
  readonly emails: ShownEmails | undefined;
  /** Whether browsers get the example storefront at `/`. */
  readonly storefront: boolean;
}

export interface ShopPages {
  /** Reads the documents and guides. @throws when one is missing or invalid */
  docs(sources: DocumentationSources): FindPage;
  readonly problems: FindPage;
  readonly board: FindPage;
  readonly mail: FindPage;
  /**
   * Returns the response to a read of an address where nothing is for programs: the storefront, a redirection to a page, or
   * a page of links for a browser; undefined for programs.
   */
  help(request: PageRequest): PageResponse | Promise<PageResponse> | undefined;
  /** Addresses that a client may have meant. */
  readonly addresses: readonly string[];
}

/** Creates the pages. Each `FindPage` handles the requests below the address with its name. */
export function createPages({ board, emails, ...options }: PagesOptions): ShopPages {
  const switches = { board: board !== undefined, mail: emails !== undefined, storefront: options.storefront };
  const shop = options.storefront ? storefront(switches) : undefined;
  const own = readAssets();
  const assets = { ...own, pages: new Map([...own.pages, ...(shop?.files ?? [])]) };
  const help = helpPage(switches, assets);
  return {
    docs: (sources) => docsPages(sources, assets),
    problems: problemPages(assets),
    board: boardPages(board, assets),
    mail: mailPages(emails, assets),
    help: (request) => shop?.page(request) ?? help(request),
    addresses: ['/docs', '/problems', ...(board === undefined ? [] : ['/board'])],
  };
}
