// The tools of the made-up project: `worker(files)` gives the function that does them.
export const worker = (files) => (name, args) => {
  if (name === "read_file") return files[args.path];
  if (name === "write_file") {
    files[args.path] = args.text;
    return "written";
  }
  const words = args.command.split(" ");
  const text = files[words.at(-1)];
  return words[0] === "cat" ? text : `${text.split(/\s+/).length - 1} ${words.at(-1)}\n`;
};
