// A typical implementation: express with sequelize models, keyset conditions as OR objects, rows as instances.
import express from 'express';
import { DataTypes, Op, Sequelize, type WhereOptions } from 'sequelize';
import { alternatives, brands, range, rating } from './cases.ts';

const sequelize = new Sequelize(process.env.DATABASE_URL ?? '', { logging: false, pool: { max: 10 } });
const Product = sequelize.define(
  'product',
  {
    id: { type: DataTypes.UUID, primaryKey: true },
    name: DataTypes.TEXT,
    description: DataTypes.TEXT,
    brand: DataTypes.TEXT,
    category: DataTypes.TEXT,
    price_minor: DataTypes.BIGINT,
    rating_tenths: DataTypes.SMALLINT,
    status: DataTypes.TEXT,
    stock: DataTypes.INTEGER,
    reserved: DataTypes.INTEGER,
    images: DataTypes.TEXT,
    attributes: DataTypes.TEXT,
    created_at: DataTypes.DATE,
    updated_at: DataTypes.DATE,
  },
  { tableName: 'products', timestamps: false },
);

const newest: [string, string][] = [
  ['created_at', 'DESC'],
  ['id', 'DESC'],
];

function whereOf(path: string, after: string[]): { where: WhereOptions; order: [string, string][] } {
  if (path === '/1') {
    const [moment, id] = after;
    return {
      where: {
        [Op.or]: [{ created_at: { [Op.lt]: moment } }, { created_at: moment, id: { [Op.lt]: id } }],
      },
      order: newest,
    };
  }
  if (path === '/2') {
    const where = { price_minor: { [Op.gte]: range.from * 100, [Op.lte]: range.to * 100 } };
    return {
      where,
      order: [
        ['price_minor', 'ASC'],
        ['id', 'ASC'],
      ],
    };
  }
  if (path === '/3') {
    return { where: { brand: { [Op.in]: [...brands] }, rating_tenths: { [Op.gte]: rating * 10 } }, order: newest };
  }
  if (path === '/4') {
    const [first, second, third] = alternatives;
    const where = {
      [Op.or]: [
        { brand: first.brand, price_minor: { [Op.lt]: first.price.lt * 100 } },
        { brand: second.brand, rating_tenths: { [Op.gte]: second.rating.gte * 10 } },
        { brand: third.brand },
      ],
    };
    return { where, order: newest };
  }
  return { where: {}, order: newest };
}

const app = express();
app.get('/:case', async (request, response) => {
  const after = decodeURIComponent(request.url.split('?')[1] ?? '').split('|');
  const { where, order } = whereOf(request.path, after);
  const rows = await Product.findAll({ where, order, limit: 21 });
  const items = rows.slice(0, 20).map((row) => row.toJSON());
  response.json({ items, pagination: { limit: 20, hasMore: rows.length > 20 } });
});
app.listen(Number(process.env.PORT), '127.0.0.1', () => process.stdout.write('listening\n'));
