// The images that the shop's images are built from. Their tags move, so a release records what they named at that time.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Name → the digest, with which `docker pull NAME@DIGEST` returns the same image. */
export type BaseImages = Readonly<Record<string, string>>;

const dockerfiles = ['deploy/Dockerfile', 'deploy/proxy/Dockerfile'];

/** The images that a Dockerfile starts from. Its own stages, and `scratch`, are none. */
export function baseImagesOf(dockerfile: string): string[] {
  const stages = [...dockerfile.matchAll(/^FROM (\S+)(?: AS (\S+))?$/gim)];
  const own = new Set(['scratch', ...stages.map(([, , name]) => name)]);
  return [...new Set(stages.map(([, image = '']) => image))].filter((image) => !own.has(image));
}

/**
 * Asks the Docker engine of this machine, which must have pulled the images that the release is built from. An image that
 * comes from no registry has no digest; its id is recorded instead.
 * @throws Error that names the missing image, or that no engine answers
 */
export function baseImages(): BaseImages {
  const names = dockerfiles.flatMap((name) =>
    baseImagesOf(readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8')),
  );
  return Object.fromEntries([...new Set(names)].sort().map((name) => [name, digestOf(name)]));
}

function digestOf(image: string): string {
  try {
    const format = '{{.Id}}{{range .RepoDigests}} {{.}}{{end}}';
    const output = execFileSync('docker', ['image', 'inspect', '--format', format, image], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return /@(\S+)/.exec(output)?.[1] ?? output.trim();
  } catch (cause) {
    throw new Error(`The Docker engine has no image ${image}. Run: docker pull ${image}`, { cause });
  }
}
