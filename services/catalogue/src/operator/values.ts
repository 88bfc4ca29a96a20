// The values that the command line uses before it runs a command. Its help loads them, so this module imports no other.
export const formats = ['csv', 'ndjson'] as const;
export type Format = (typeof formats)[number];

/** The filters by attributes of the sample products, in the form of PRODUCT_ATTRIBUTES. */
export const sampleAttributes = 'colour,guaranteeYears:number,material';
